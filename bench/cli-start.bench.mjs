/** What the program's shortest answers cost, against a Node that does nothing. */
import { installProgram, interleaved, measure } from "./packed-program.mjs";

export default async function bench(report) {
  const place = await installProgram();
  const run =
    (...args) =>
    () =>
      measure(args, place);
  const [bare, version, help] = await interleaved(
    [run("-e", "0"), run(place.program, "--version"), run(place.program, "--help")],
    25,
  );
  report("bare node", bare.cpuMs, "ms of CPU");
  report("--version", version.cpuMs / bare.cpuMs, "times bare node (at most 1.2)");
  report("--help", help.cpuMs / bare.cpuMs, "times bare node (at most 1.3)");
}
