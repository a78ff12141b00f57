/** Looks at files of a project. Synchronous: each look takes microseconds, and a detour over a thread would take longer. */
import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statfsSync,
  type Stats,
} from "node:fs";
import { systemCode } from "@tau/tools/platform";

/** Returns undefined for what cannot be seen: commands run with our rights and cannot see it either. */
export function unlessUnseen<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

export const lookAtPath = (path: string): Stats | undefined =>
  unlessUnseen(() => lstatSync(path, { throwIfNoEntry: false }));

export const listNames = (path: string): readonly string[] => unlessUnseen(() => readdirSync(path)) ?? [];

export const listEntries = (path: string): readonly Dirent[] =>
  unlessUnseen(() => readdirSync(path, { withFileTypes: true })) ?? [];

export const findRealPath = (path: string): string | undefined => unlessUnseen(() => realpathSync(path));

export const readLink = (path: string): string | undefined => unlessUnseen(() => readlinkSync(path));

/** The type that the system gives a file system in memory. */
const memoryType = 0x01021994;

export const isInMemory = (path: string): boolean => unlessUnseen(() => statfsSync(path).type) === memoryType;

/** Whether the file system is full for users other than root. */
export const hasNoSpace = (path: string): boolean => unlessUnseen(() => statfsSync(path).bavail) === 0;

const maxTextBytes = 1024 * 1024;

/** Opening a link fails, and opening a pipe does not wait for anybody: a command may put one there at any moment. */
const readOnly = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The text of a regular file that is not a link; undefined for anything else, and for files too large to be read often. */
export const readText = (path: string): string | undefined => readBytes(path, maxTextBytes)?.toString();

/** Reads any content, like `readText`. */
export function readBytes(path: string, maxBytes: number): Buffer | undefined {
  const descriptor = unlessUnseen(() => openSync(path, readOnly));
  if (descriptor === undefined) return undefined;
  try {
    const stats = fstatSync(descriptor);
    return stats.isFile() && stats.size <= maxBytes ? unlessUnseen(() => readFileSync(descriptor)) : undefined;
  } finally {
    closeSync(descriptor);
  }
}
