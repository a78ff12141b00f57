/** The breakpoints that are wanted, whether or not a program runs. */

export interface WantedBreakpoint {
  readonly line: number;
  readonly condition?: string;
  readonly hitCondition?: string;
}

export interface WantedFunctionBreakpoint {
  readonly name: string;
  readonly condition?: string;
  readonly hitCondition?: string;
}

interface BreakpointConditions {
  condition?: string | undefined;
  hitCondition?: string | undefined;
}

const maxBreakpoints = 200;

export class Breakpoints {
  /** By the absolute path of the file. */
  readonly files = new Map<string, readonly WantedBreakpoint[]>();
  functions: readonly WantedFunctionBreakpoint[] = [];

  /** Replaces one at the same line. Undefined if there are too many. */
  add(file: string, line: number, conditions: BreakpointConditions): WantedBreakpoint | undefined {
    const others = (this.files.get(file) ?? []).filter((wanted) => wanted.line !== line);
    if (this.count >= maxBreakpoints) return undefined;
    const added: WantedBreakpoint = { line, ...withValues(conditions) };
    this.files.set(
      file,
      [...others, added].toSorted((a, b) => a.line - b.line),
    );
    return added;
  }

  addFunction(name: string, conditions: BreakpointConditions): WantedFunctionBreakpoint | undefined {
    if (this.count >= maxBreakpoints) return undefined;
    const added: WantedFunctionBreakpoint = { name, ...withValues(conditions) };
    this.functions = [...this.functions.filter((other) => other.name !== name), added];
    return added;
  }

  /** Without a line: all of the file. Returns how many were removed. */
  remove(file: string, line: number | undefined): number {
    const all = this.files.get(file) ?? [];
    const kept = line === undefined ? [] : all.filter((wanted) => wanted.line !== line);
    if (kept.length === 0) this.files.delete(file);
    else this.files.set(file, kept);
    return all.length - kept.length;
  }

  removeFunction(name: string): number {
    const { length } = this.functions;
    this.functions = this.functions.filter((wanted) => wanted.name !== name);
    return length - this.functions.length;
  }

  get count(): number {
    return [...this.files.values()].reduce((sum, list) => sum + list.length, this.functions.length);
  }
}

const withValues = ({ condition, hitCondition }: BreakpointConditions) => ({
  ...(condition !== undefined && { condition }),
  ...(hitCondition !== undefined && { hitCondition }),
});
