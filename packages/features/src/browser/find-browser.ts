/** Finds a Chromium or Chrome on this machine. */
import { isAbsolute, join } from "node:path";
import { isProgram, listPathDirectories } from "../kit/programs.ts";

/** Names on `PATH`, in the order in which they are tried. */
const names = [
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "chrome",
  "microsoft-edge",
  "brave-browser",
];

/** Programs that are not on `PATH`. */
const paths = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
];

/** The path of the browser; undefined if there is none. `setting` is used alone, if it is given. */
export function findBrowser(setting: string | undefined, path: string | undefined): string | undefined {
  if (setting !== undefined) return isAbsolute(setting) && isProgram(setting) ? setting : undefined;
  const directories = listPathDirectories(path);
  const candidates = names.flatMap((name) => directories.map((directory) => join(directory, name)));
  return [...candidates, ...paths].find(isProgram);
}
