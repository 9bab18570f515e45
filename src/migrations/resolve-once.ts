/** Makes Node look for a package once, and not for each of thousands of migrations that import it. */
import module, { type ModuleHooks, type RegisterHooksOptions, type ResolveFnOutput } from "node:module";

/**
 * Runs code that imports many modules. Meanwhile, the name of a package is resolved once for each folder of modules that
 * import it: Node's own result does not depend on the module.
 */
export async function resolvingOnce<Result>(code: () => Promise<Result>): Promise<Result> {
  const known = new Map<string, ResolveFnOutput>();
  const hooks = registered({
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
    hooks?.deregister();
  }
}

/** Undefined where modules have no hooks, as in Bun, or refuse them, as in Jest. */
function registered(hooks: RegisterHooksOptions): ModuleHooks | undefined {
  try {
    return module.registerHooks(hooks);
  } catch {
    return undefined;
  }
}

/** Whether it is neither a path nor a URL. */
function isPackage(specifier: string): boolean {
  return !/^[./#]/.test(specifier) && !specifier.includes(":");
}
