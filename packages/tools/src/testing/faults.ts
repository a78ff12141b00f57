import type { FileSystem, OpenHandle } from "../platform/file-system.ts";

/** Which call fails, and how. */
export interface Fault {
  /** The number of the call that fails, counted from 1 over all calls. */
  at: number;
  /** Default `EIO`. */
  code?: string;
  /** `once` lets later calls through; `forever` lets every call from there on fail. Default `once`. */
  lasts?: "once" | "forever";
}

export interface FaultyFileSystem extends FileSystem {
  /** The calls that were made, by name, in order. */
  readonly calls: readonly string[];
}

/**
 * A file system whose Nth call fails. Run the same work with N = 1, 2, 3, … until no call fails any more: then every call
 * that a disk may fail has been tried.
 */
export function faultyFileSystem(real: FileSystem, fault?: Fault): FaultyFileSystem {
  const calls: string[] = [];
  const check = (name: string) => {
    calls.push(name);
    if (!fault) return;
    const fails = fault.lasts === "forever" ? calls.length >= fault.at : calls.length === fault.at;
    if (!fails) return;
    const code = fault.code ?? "EIO";
    throw Object.assign(new Error(`${code}: injected into ${name}, call ${calls.length}`), { code });
  };
  const watch = <T extends object>(target: T, prefix: string): T =>
    new Proxy(target, {
      get(object, property, receiver) {
        const value: unknown = Reflect.get(object, property, receiver);
        if (typeof value !== "function") return value;
        if (property === "statNow" || property === "readNow") {
          return (...args: unknown[]) => {
            check(property);
            return Reflect.apply(value, object, args) as unknown;
          };
        }
        return async (...args: unknown[]) => {
          // A close that fails has closed all the same, here as on a real system.
          if (property === "close") await Reflect.apply(value, object, args);
          check(`${prefix}${String(property)}`);
          if (property === "close") return undefined;
          const result: unknown = await Reflect.apply(value, object, args);
          return property === "open" ? watch(result as OpenHandle, "handle.") : result;
        };
      },
    });
  return watch({ ...real, calls }, "");
}

/**
 * Runs `work` once for every call it makes, each time with that call failing. `work` gets the file system to use and
 * checks afterwards what must hold; it must not throw for the injected failure itself.
 */
export async function withEveryFault(
  real: FileSystem,
  work: (fileSystem: FaultyFileSystem, fault: Fault) => Promise<void>,
  options: Omit<Fault, "at"> = {},
): Promise<number> {
  for (let at = 1; ; at++) {
    const fileSystem = faultyFileSystem(real, { ...options, at });
    await work(fileSystem, { ...options, at });
    if (fileSystem.calls.length < at) return at - 1;
  }
}
