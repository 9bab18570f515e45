/** A visit is several requests of one client, or of some together, on tables that nobody else uses. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { goneVisit, raceVisit } from "./crowd-visits.ts";
import { ownVisit } from "./own-visit.ts";
import { ask, Unsure, type Scene } from "./scene.ts";
import { twinVisit } from "./twin-visit.ts";

const kinds = [
  ...Array.from({ length: 11 }, () => ownVisit),
  ...Array.from({ length: 6 }, () => twinVisit),
  raceVisit,
  goneVisit,
  goneVisit,
];

/** Its tables are dropped at the end. */
export async function visit(scene: Scene): Promise<void> {
  const kind = scene.chance.pick(kinds);
  try {
    await kind(scene);
  } catch (error) {
    if (!(error instanceof Unsure)) scene.report(`${kind.name}: ${(error as Error).message}`);
  }
  for (const name of [scene.name, `${scene.name}-one`, `${scene.name}-two`])
    if (existsSync(join(scene.folder, `${name}.lance`)))
      await ask(scene, { path: `/v1/table/${name}/drop`, body: {} }).catch(() => {});
}
