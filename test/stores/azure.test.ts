import { lacks } from "../support/needs.ts";
import { startStore } from "../support/stores/store.ts";
import { storeSuite } from "./suite.ts";

// Runs and answers meet the same code of ours on every store: for each commit they are tried on S3.
storeSuite("Azure", lacks("long") ? undefined : await startStore("azure"));
