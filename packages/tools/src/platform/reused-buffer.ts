/**
 * A buffer that is read into again and again. A new buffer as large as a file for each read makes the garbage collector
 * run far too often: it counts the bytes, and has hardly any objects to free.
 */
export interface ReusedBuffer {
  /** At least `size` bytes of any content. A caller that does not keep the buffer must give it back. */
  take(size: number): Buffer;
  giveBack(buffer: Buffer): void;
}

const block = 64 * 1024;
const maxKept = 4 * 1024 ** 2;

export function createReusedBuffer(): ReusedBuffer {
  let spare: Buffer | undefined;
  return {
    take(size) {
      const buffer = spare;
      spare = undefined;
      // Not one that is much too large: the caller may keep it for long.
      if (buffer && buffer.length >= size && buffer.length < size + 2 * block) return buffer;
      // Rounded up, so that a file that has grown a little still fits.
      return Buffer.allocUnsafeSlow(Math.ceil(size / block) * block);
    },
    giveBack(buffer) {
      if (buffer.length <= maxKept) spare = buffer;
    },
  };
}
