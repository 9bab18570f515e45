/** Loaded before a run with --import: at the signal SIGUSR2 its wall clock jumps by CLOCK_JUMP milliseconds. */
const jump = Number(process.env["CLOCK_JUMP"]);
let offset = 0;
const RealDate = Date;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: [], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [RealDate.now() + offset] : args, newTarget) as object,
  get: (target, name) => (name === "now" ? () => RealDate.now() + offset : (Reflect.get(target, name) as unknown)),
});
process.on("SIGUSR2", () => (offset += jump));
if (process.env["CLOCK_JUMPS_AT_ONCE"] !== undefined) offset = jump;
