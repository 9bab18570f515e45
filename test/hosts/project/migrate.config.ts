import { defineConfig } from "lance-migrate";

export default defineConfig({ targets: { local: { kind: "lance", uri: process.env["TABLES"] ?? ".lancedb" } } });
