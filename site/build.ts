/** `npm run site`: writes the documentation as a site to site/dist. */
import { fileURLToPath } from "node:url";
import { buildSite } from "./pages/build.ts";

const folder = fileURLToPath(new URL("dist", import.meta.url));
buildSite(folder);
console.log(`wrote site/dist; open site/dist/index.html`);
