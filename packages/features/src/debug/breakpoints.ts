/** The breakpoints that are wanted, whether or not a program runs. */

/** A breakpoint as it is wanted, and as the adapter of a session has set it. */
export interface DapBreakpointRecord {
  line: number;
  condition?: string;
  hitCondition?: string;
  id?: number;
  /** Undefined until an adapter has answered. */
  isVerified?: boolean;
  /** The line at which the adapter has set it. */
  actualLine?: number;
  message?: string;
}

export interface DapFunctionBreakpointRecord extends Omit<DapBreakpointRecord, "line" | "actualLine"> {
  name: string;
}

export interface BreakpointConditions {
  condition?: string | undefined;
  hitCondition?: string | undefined;
}

const maxBreakpoints = 200;

export class Breakpoints {
  /** By the absolute path of the file. */
  readonly files = new Map<string, DapBreakpointRecord[]>();
  functions: DapFunctionBreakpointRecord[] = [];

  /** Replaces one at the same line. Undefined if there are too many. */
  add(file: string, line: number, conditions: BreakpointConditions): DapBreakpointRecord | undefined {
    const others = (this.files.get(file) ?? []).filter((record) => record.line !== line);
    if (this.count >= maxBreakpoints) return undefined;
    const record: DapBreakpointRecord = { line, ...withValues(conditions) };
    this.files.set(
      file,
      [...others, record].toSorted((a, b) => a.line - b.line),
    );
    return record;
  }

  addFunction(name: string, conditions: BreakpointConditions): DapFunctionBreakpointRecord | undefined {
    if (this.count >= maxBreakpoints) return undefined;
    const record: DapFunctionBreakpointRecord = { name, ...withValues(conditions) };
    this.functions = [...this.functions.filter((other) => other.name !== name), record];
    return record;
  }

  /** Without a line: all of the file. Returns how many were removed. */
  remove(file: string, line: number | undefined): number {
    const records = this.files.get(file) ?? [];
    const kept = line === undefined ? [] : records.filter((record) => record.line !== line);
    if (kept.length === 0) this.files.delete(file);
    else this.files.set(file, kept);
    return records.length - kept.length;
  }

  removeFunction(name: string): number {
    const { length } = this.functions;
    this.functions = this.functions.filter((record) => record.name !== name);
    return length - this.functions.length;
  }

  get count(): number {
    return [...this.files.values()].reduce((sum, records) => sum + records.length, this.functions.length);
  }
}

const withValues = ({ condition, hitCondition }: BreakpointConditions) => ({
  ...(condition !== undefined && { condition }),
  ...(hitCondition !== undefined && { hitCondition }),
});
