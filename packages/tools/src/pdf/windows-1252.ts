/** Decodes Windows-1252, which pages mean with `latin1` too. Some versions of Node decode it as Latin-1. Pure. */

/** The codes 0x80 to 0x9f; those that are not used stay what they are. */
const upper = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

export const decodeWindows1252 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString("latin1")
    .replaceAll(/[\u0080-\u009f]/g, (character) => upper[character.charCodeAt(0) - 0x80]!);
