/** xxHash32, as its specification says: fast, and not for secrets. Pure. */

const prime1 = 0x9e3779b1;
const prime2 = 0x85ebca77;
const prime3 = 0xc2b2ae3d;
const prime4 = 0x27d4eb2f;
const prime5 = 0x165667b1;

const rotate = (value: number, bits: number) => (value << bits) | (value >>> (32 - bits));
const round = (lane: number, input: number) => Math.imul(rotate((lane + Math.imul(input, prime2)) | 0, 13), prime1);

const isLittleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

function getWords({ buffer, byteOffset, length }: Uint8Array): Int32Array | undefined {
  return isLittleEndian && byteOffset % 4 === 0 ? new Int32Array(buffer, byteOffset, length >> 2) : undefined;
}

/** An unsigned number of 32 bits. */
export function xxHash32(bytes: Uint8Array, seed = 0): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = bytes.length;
  let index = 0;
  let hash: number;
  if (length >= 16) {
    let lane1 = (seed + prime1 + prime2) | 0;
    let lane2 = (seed + prime2) | 0;
    let lane3 = seed | 0;
    let lane4 = (seed - prime1) | 0;
    // Words are read several times faster than through a view, where they lie as the machine wants them.
    const words = getWords(bytes);
    for (const last = length - 16; index <= last; index += 16) {
      const word = index >> 2;
      lane1 = round(lane1, words ? words[word]! : view.getInt32(index, true));
      lane2 = round(lane2, words ? words[word + 1]! : view.getInt32(index + 4, true));
      lane3 = round(lane3, words ? words[word + 2]! : view.getInt32(index + 8, true));
      lane4 = round(lane4, words ? words[word + 3]! : view.getInt32(index + 12, true));
    }
    hash = (rotate(lane1, 1) + rotate(lane2, 7) + rotate(lane3, 12) + rotate(lane4, 18)) | 0;
  } else {
    hash = (seed + prime5) | 0;
  }
  hash = (hash + length) | 0;
  for (; index + 4 <= length; index += 4) {
    hash = (hash + Math.imul(view.getInt32(index, true), prime3)) | 0;
    hash = Math.imul(rotate(hash, 17), prime4);
  }
  for (; index < length; index++) {
    hash = (hash + Math.imul(view.getUint8(index), prime5)) | 0;
    hash = Math.imul(rotate(hash, 11), prime1);
  }
  hash = Math.imul(hash ^ (hash >>> 15), prime2);
  hash = Math.imul(hash ^ (hash >>> 13), prime3);
  return (hash ^ (hash >>> 16)) >>> 0;
}
