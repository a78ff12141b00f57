/** CPU of `tau --version` and `tau --help`, compared with a Node that does nothing. */
import { installProgram, interleaved, measure } from "./packed-program.mjs";

export default async function bench(report) {
  const installation = await installProgram();
  const { program } = installation;
  const [bare, version, help] = await interleaved(
    [
      ["-e", "0"],
      [program, "--version"],
      [program, "--help"],
    ].map((args) => () => measure(args, installation)),
    25,
  );
  report("bare node", bare.cpuMs, "ms of CPU");
  report("--version", version.cpuMs / bare.cpuMs, "times bare node (at most 1.3)");
  report("--help", help.cpuMs / bare.cpuMs, "times bare node (at most 1.3)");
}
