/**
 * A buffer that is read into again and again. Buffers as large as files, each used once, are what clearing away costs
 * most: they make the collector look through everything long before there is much to clear.
 */
export interface Spare {
  /** At least `size` bytes of any content. Whoever hands them on keeps them; whoever does not gives them back. */
  take(size: number): Buffer;
  giveBack(buffer: Buffer): void;
}

const block = 64 * 1024;
const maxKept = 4 * 1024 ** 2;

export function createSpare(): Spare {
  let spare: Buffer | undefined;
  return {
    take(size) {
      const kept = spare;
      spare = undefined;
      // Not one that is much too large: who is handed it may keep it for long.
      if (kept && kept.length >= size && kept.length < size + 2 * block) return kept;
      // Rounded up, so that a file that has grown a little still fits.
      return Buffer.allocUnsafeSlow(Math.ceil(size / block) * block);
    },
    giveBack(buffer) {
      if (buffer.length <= maxKept) spare = buffer;
    },
  };
}
