import { startStore } from "../support/stores/store.ts";
import { storeSuite } from "./suite.ts";

storeSuite("S3", await startStore("s3"), "answers");
