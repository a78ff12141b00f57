import type { Approval } from "@tau/protocol";

/** The text that a shell gets, and below it what it runs, if that is more than one command. Nothing is left out. Pure. */
export function listCommands([shell, ...inside]: NonNullable<Approval["commands"]>): string[] {
  const text = shell?.at(-1)?.split("\n") ?? [];
  return inside.length > 1 ? [...text, "runs:", ...inside.map((argv) => `  ${argv.join(" ")}`)] : text;
}
