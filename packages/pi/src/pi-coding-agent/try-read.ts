import { getErrorMessage } from "@tau/ai/internal";
import { systemCode } from "@tau/tools/platform";

/** Undefined where a system call fails; `report` gets the reason. Other errors are thrown. */
export function tryRead<T>(read: () => T, report: (message: string) => void = () => {}): T | undefined {
  try {
    return read();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    report(getErrorMessage(error));
    return undefined;
  }
}
