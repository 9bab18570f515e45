/** Makes Node look for a package once, and not for each of thousands of migrations that import it. */
import module, { type ResolveFnOutput } from "node:module";

/**
 * Runs code that imports many modules. Meanwhile, the name of a package is resolved once for each folder of modules that
 * import it: Node's own result does not depend on the module.
 */
export async function resolvingOnce<Result>(code: () => Promise<Result>): Promise<Result> {
  // Bun has no hooks.
  if (typeof module.registerHooks !== "function") return await code();
  const known = new Map<string, ResolveFnOutput>();
  const hooks = module.registerHooks({
    resolve(specifier, context, next) {
      const { parentURL, conditions, importAttributes } = context;
      if (parentURL === undefined || !isPackage(specifier)) return next(specifier, context);
      const folder = parentURL.slice(0, parentURL.lastIndexOf("/"));
      const key = JSON.stringify([folder, specifier, conditions, importAttributes]);
      const resolved = known.get(key) ?? { ...next(specifier, context), shortCircuit: true };
      known.set(key, resolved);
      return resolved;
    },
  });
  try {
    return await code();
  } finally {
    hooks.deregister();
  }
}

/** Whether it is neither a path nor a URL. */
function isPackage(specifier: string): boolean {
  return !/^[./#]/.test(specifier) && !specifier.includes(":");
}
