/** Numbers of 16 bits (IEEE 754 binary16). Node 22 has neither `Math.f16round` nor `Float16Array`. */

/** Ten bits of the fraction. */
const steps = 1024;
const smallestNormal = 2 ** -14;
/** Between two numbers that are smaller than that. */
const smallestStep = 2 ** -24;
const isNegative = (value: number) => value < 0 || Object.is(value, -0);

/** The nearest number as bits; of two that are as near, the even one. */
export function float16Bits(value: number): number {
  if (Number.isNaN(value)) return 0x7e00;
  const sign = isNegative(value) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (size < smallestNormal) return sign | roundedToEven(size / smallestStep);
  const exponent = Math.min(exponentOf(size), 16);
  // A fraction that is rounded up to the next power of two is carried into the exponent.
  const bits = (exponent + 14) * steps + roundedToEven(size / 2 ** (exponent - 10));
  return sign | Math.min(bits, 0x7c00);
}

export function float16Of(bits: number): number {
  const [sign, exponent, fraction] = [bits & 0x8000 ? -1 : 1, (bits >> 10) & 0x1f, bits & 0x3ff];
  if (exponent === 0) return sign * fraction * smallestStep;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (1 + fraction / steps) * 2 ** (exponent - 15);
}

const words = new DataView(new ArrayBuffer(8));

/** Not by a logarithm, which is rounded too. */
function exponentOf(size: number): number {
  words.setFloat64(0, size);
  return ((words.getUint16(0) >> 4) & 0x7ff) - 1023;
}

/** Of a number of at most 2^53: what is added is exact. */
function roundedToEven(value: number): number {
  const whole = Math.floor(value);
  const rest = value - whole;
  return rest > 0.5 || (rest === 0.5 && whole % 2 === 1) ? whole + 1 : whole;
}
