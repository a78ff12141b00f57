/**
 * The timers and the `process` of one extension. What it starts with them ends when the extension is closed, and what it
 * starts with them after that does not begin: code that waited for something may still continue. What it starts in another
 * way continues: `globalThis.setTimeout`, `node:timers`, listeners of other objects, servers, child processes.
 */
import { promisify } from "node:util";

export interface ModuleGlobals {
  /** By the name under which the code of the extension sees them. */
  readonly bindings: Readonly<Record<string, unknown>>;
  /** Clears the timers that still run, and removes the listeners of `process`. */
  close(): void;
}

type Callback = (...args: unknown[]) => void;

/** `onError` is called with what a timer throws, or rejects with. */
export function createModuleGlobals(onError: (error: unknown) => void): ModuleGlobals {
  const timeouts = new Set<NodeJS.Timeout>();
  const immediates = new Set<NodeJS.Immediate>();
  const listeners = new Set<() => void>();
  let isClosed = false;
  const call = (callback: Callback, values: unknown[]): void => {
    // A timer that has fired can be started again with its own `refresh()`.
    if (isClosed) return;
    try {
      const result: unknown = callback(...values);
      if (result instanceof Promise) result.catch(onError);
    } catch (error) {
      onError(error);
    }
  };
  const addTimeout = (timer: NodeJS.Timeout): NodeJS.Timeout => {
    if (isClosed) clearTimeout(timer);
    else timeouts.add(timer);
    return timer;
  };

  const track = {
    setTimeout(callback: Callback, afterMs?: number, ...args: unknown[]) {
      const timer = setTimeout(
        (...values: unknown[]) => {
          timeouts.delete(timer);
          call(callback, values);
        },
        afterMs,
        ...args,
      );
      return addTimeout(timer);
    },
    setInterval(callback: Callback, everyMs?: number, ...args: unknown[]) {
      return addTimeout(setInterval((...values: unknown[]) => call(callback, values), everyMs, ...args));
    },
    setImmediate(callback: Callback, ...args: unknown[]) {
      const immediate = setImmediate(
        (...values: unknown[]) => {
          immediates.delete(immediate);
          call(callback, values);
        },
        ...args,
      );
      if (isClosed) clearImmediate(immediate);
      else immediates.add(immediate);
      return immediate;
    },
    clearTimeout(timer: NodeJS.Timeout) {
      timeouts.delete(timer);
      clearTimeout(timer);
    },
    clearImmediate(immediate: NodeJS.Immediate) {
      immediates.delete(immediate);
      clearImmediate(immediate);
    },
  };
  Object.defineProperty(track.setTimeout, promisify.custom, { get: () => promisify(setTimeout) });
  Object.defineProperty(track.setImmediate, promisify.custom, { get: () => promisify(setImmediate) });

  return {
    bindings: { ...track, clearInterval: track.clearTimeout, process: trackProcess(listeners, () => isClosed) },
    close() {
      isClosed = true;
      for (const timer of timeouts) clearTimeout(timer);
      for (const immediate of immediates) clearImmediate(immediate);
      for (const remove of listeners) remove();
      timeouts.clear();
      immediates.clear();
      listeners.clear();
    },
  };
}

const adders = new Set<string | symbol>(["on", "addListener", "once", "prependListener", "prependOnceListener"]);

function trackProcess(listeners: Set<() => void>, isClosed: () => boolean): NodeJS.Process {
  return new Proxy(process, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (!adders.has(key)) return value;
      return function (this: unknown, event: string, listener: Callback) {
        if (isClosed()) return this;
        (value as (event: string, listener: Callback) => unknown).call(target, event, listener);
        listeners.add(() => target.off(event, listener));
        return this;
      };
    },
    set: (target, key, value) => Reflect.set(target, key, value),
  });
}
