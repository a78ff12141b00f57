/** A bare shell, which benchmarks of commands are compared with. */
import { tmpdir } from "node:os";

export async function bareBash(spawn) {
  const child = await spawn({
    argv: ["bash", "--norc", "--noprofile", "-c", "true"],
    cwd: tmpdir(),
    env: { PATH: process.env.PATH },
  });
  const ends = [child.stdout, child.stderr].map(
    (stream) => new Promise((resolve) => stream.resume().on("end", resolve)),
  );
  await Promise.all([child.exit, ...ends]);
}

/**
 * Finds the time that all but the fastest tenth exceed: the median would show more of what else the machine is doing.
 */
export const quickTime = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 10)];
