/**
 * Some files are not changed by the model: `.env` files, what is in `.git`, lock files, and what `--protect` names, separated
 * by commas. Reading them stays possible. Commands are not looked at: this is for tools that name the file.
 */
import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import type { ExtensionAPI } from "@tau/extensions";

const always = [".env", ".git", "package-lock.json"];
const changing = new Set(["write", "edit", "hashline_edit"]);

export default function protectedPaths(tau: ExtensionAPI): void {
  tau.registerFlag("protect", { type: "string", default: "", description: "More names that tools must not change" });

  tau.on("tool_call", ({ toolName, input }, { cwd }) => {
    if (!changing.has(toolName) || typeof input["path"] !== "string") return undefined;
    const more = String(tau.getFlag("protect")).split(",");
    const names = new Set([...always, ...more.map((name) => name.trim()).filter(Boolean)]);
    const path = relative(cwd, findReal(resolve(cwd, input["path"])));
    const name = path.split(sep).find((part) => names.has(part) || part.startsWith(".env."));
    return name === undefined ? undefined : { block: true, reason: `${path} is protected, because of ${name}.` };
  });
}

/** Where the file really is: a link must not lead around the names. It need not exist. */
function findReal(path: string): string {
  if (existsSync(path) || dirname(path) === path) return realpathSync(path);
  return join(findReal(dirname(path)), basename(path));
}
