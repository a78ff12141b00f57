/** Limits the memory of a WebAssembly module. The runtime has no option for that, but the module can declare it. Pure. */

/**
 * Limits a module to `maxPages` pages of memory, 64 KB each. This function is passed to threads as text, so it must not use
 * anything from outside of it. Throws for a module that declares its memory in another way.
 */
export function limitMemory(module: Uint8Array, maxPages: number): Uint8Array {
  /** Numbers are stored with seven bits in each byte, the lowest first. */
  const read = (from: number): { value: number; next: number } => {
    let value = 0;
    for (let index = from, shift = 0; ; index++, shift += 7) {
      value |= (module[index]! & 0x7f) << shift;
      if (module[index]! < 0x80) return { value, next: index + 1 };
    }
  };
  const write = (value: number): number[] => (value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...write(value >>> 7)]);
  // After a header of 8 bytes come sections: a kind, a length, and that many bytes.
  for (let index = 8; index < module.length;) {
    const { value: length, next: start } = read(index + 1);
    const end = start + length;
    if (module[index] === 5) {
      // One memory, of which only the minimum is declared.
      if (module[start] !== 1 || module[start + 1] !== 0) break;
      const limits = [1, 1, ...write(read(start + 2).value), ...write(maxPages)];
      const section = [5, limits.length, ...limits];
      const limited = new Uint8Array(index + section.length + module.length - end);
      limited.set(module.subarray(0, index));
      limited.set(section, index);
      limited.set(module.subarray(end), index + section.length);
      return limited;
    }
    index = end;
  }
  throw new Error("The module does not declare its memory in the expected way.");
}
