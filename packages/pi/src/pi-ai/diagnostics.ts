/** Problems of a request that did not stop it. */
import type { AssistantMessageDiagnostic } from "@tau/ai";

interface ErrorInfo {
  name?: string;
  message: string;
  stack?: string;
  code?: string | number;
}

export function formatThrownValue(value: unknown): string {
  if (value instanceof Error) return value.message || value.name;
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch (error) {
    // A cycle or a BigInt: there is no JSON for it.
    if (!(error instanceof TypeError)) throw error;
    return String(value);
  }
}

export function extractDiagnosticError(error: unknown): ErrorInfo {
  if (!(error instanceof Error)) return { message: formatThrownValue(error) };
  const { code } = error as Error & { code?: unknown };
  return {
    name: error.name,
    message: error.message,
    ...(error.stack !== undefined && { stack: error.stack }),
    ...((typeof code === "string" || typeof code === "number") && { code }),
  };
}

export const createAssistantMessageDiagnostic = (
  type: string,
  error: unknown,
  details?: Record<string, unknown>,
): AssistantMessageDiagnostic => ({
  type,
  timestamp: Date.now(),
  error: extractDiagnosticError(error),
  ...(details && { details }),
});

export function appendAssistantMessageDiagnostic(
  message: { diagnostics?: AssistantMessageDiagnostic[] },
  diagnostic: AssistantMessageDiagnostic,
): void {
  message.diagnostics = [...(message.diagnostics ?? []), diagnostic];
}
