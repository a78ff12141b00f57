/** RC4, which old PDFs are encrypted with. OpenSSL no longer has it unless a person turns it on. Pure. */
export function rc4(key: Uint8Array, data: Uint8Array): Uint8Array {
  const state = Uint8Array.from({ length: 256 }, (_unused, index) => index);
  const swap = (left: number, right: number): void => {
    [state[left], state[right]] = [state[right]!, state[left]!];
  };
  for (let index = 0, other = 0; index < 256; index++) {
    other = (other + state[index]! + key[index % key.length]!) & 255;
    swap(index, other);
  }
  let [index, other] = [0, 0];
  return data.map((byte) => {
    index = (index + 1) & 255;
    other = (other + state[index]!) & 255;
    swap(index, other);
    return byte ^ state[(state[index]! + state[other]!) & 255]!;
  });
}
