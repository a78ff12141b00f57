/** State that the terminal keeps from one start to the next, in the agent directory. */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemCode } from "@tau/tools/platform";

/** The first starts show a line about keys. */
const maxHintedStarts = 10;

interface TerminalState {
  /** How often the terminal was started, up to the number of starts with a hint. */
  starts: number;
  /** Whether the user has read that tmux does not pass on all keys. */
  toldExtendedKeys: boolean;
}

const getFile = (agentDir: string): string => join(agentDir, "terminal-state.json");

/** Counts a start. Resolves to whether it is one of the first. */
export async function countStart(agentDir: string): Promise<boolean> {
  const { starts } = await readState(agentDir);
  if (starts >= maxHintedStarts) return false;
  await change(agentDir, { starts: starts + 1 });
  return true;
}

/** Resolves to whether it is the first time that this is asked. */
export async function takeExtendedKeysNotice(agentDir: string): Promise<boolean> {
  const { toldExtendedKeys } = await readState(agentDir);
  return !toldExtendedKeys && (await change(agentDir, { toldExtendedKeys: true }));
}

/** A file that is missing or damaged counts as empty: nothing of it is important. */
async function readState(agentDir: string): Promise<TerminalState> {
  try {
    const value = JSON.parse(await readFile(getFile(agentDir), "utf8")) as Partial<TerminalState> | null;
    const starts = Number.isSafeInteger(value?.starts) ? (value?.starts as number) : 0;
    return { starts, toldExtendedKeys: value?.toldExtendedKeys === true };
  } catch (error) {
    if (systemCode(error) === undefined && !(error instanceof SyntaxError)) throw error;
    return { starts: 0, toldExtendedKeys: false };
  }
}

/** Resolves to whether it was written. A directory that cannot be written is no reason not to start. */
async function change(agentDir: string, changes: Partial<TerminalState>): Promise<boolean> {
  const file = getFile(agentDir);
  const temporary = `${file}.${process.pid}.new`;
  try {
    const state = { ...(await readState(agentDir)), ...changes };
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(temporary, `${JSON.stringify(state)}\n`, { mode: 0o600 });
    await rename(temporary, file);
    return true;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return false;
  }
}
