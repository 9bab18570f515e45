import { startStore } from "../support/stores/store.ts";
import { storeSuite } from "./suite.ts";

storeSuite("Azure", await startStore("azure"), "runs");
