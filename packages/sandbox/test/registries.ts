/** Registries of pip and cargo with one package each, as files. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** In `directory`, which is served at `host`. */
export function createRegistries(directory: string, host: string): void {
  const write = (path: string, text: string) => {
    mkdirSync(join(directory, path, ".."), { recursive: true });
    writeFileSync(join(directory, path), text);
  };
  const wheel = "tau_sample-7.8.9-py3-none-any.whl";
  const info = "tau_sample-7.8.9.dist-info";
  write("wheel/tau_sample.py", "answer = 'from a wheel'\n");
  write(`wheel/${info}/METADATA`, "Metadata-Version: 2.1\nName: tau-sample\nVersion: 7.8.9\n");
  write(`wheel/${info}/WHEEL`, "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n");
  write(
    `wheel/${info}/RECORD`,
    ["tau_sample.py", `${info}/METADATA`, `${info}/RECORD`].map((name) => `${name},,\n`).join(""),
  );
  write("simple/tau-sample/index.html", `<a href="${wheel}">${wheel}</a>`);
  const pack = `import shutil,os; shutil.make_archive("w", "zip", "wheel"); os.rename("w.zip", "simple/tau-sample/${wheel}")`;
  if (hasProgram("python3")) execFileSync("python3", ["-c", pack], { cwd: directory });
  write("tau-sample-7.8.9/Cargo.toml", '[package]\nname = "tau-sample"\nversion = "7.8.9"\n');
  write("tau-sample-7.8.9/src/lib.rs", "// from a crate\n");
  execFileSync("tar", ["czf", "crate.tgz", "tau-sample-7.8.9"], { cwd: directory });
  const cksum = createHash("sha256")
    .update(readFileSync(join(directory, "crate.tgz")))
    .digest("hex");
  write("index/config.json", JSON.stringify({ dl: `http://${host}/crate.tgz?{crate}` }));
  const entry = { name: "tau-sample", vers: "7.8.9", deps: [], cksum, features: {}, yanked: false };
  write("index/ta/u-/tau-sample", `${JSON.stringify(entry)}\n`);
}

const hasProgram = (name: string): boolean =>
  (process.env["PATH"] ?? "").split(":").some((directory) => existsSync(join(directory, name)));

/** Where rustup keeps its toolchains: the home of a test is another one. */
export function getRustVariables(): Record<string, string> {
  const path = process.env["RUSTUP_HOME"] ?? join(homedir(), ".rustup");
  return existsSync(path) ? { RUSTUP_HOME: path } : {};
}
