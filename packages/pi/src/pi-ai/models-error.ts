type ModelsErrorCode = "model_source" | "model_validation" | "provider" | "stream" | "auth" | "oauth";

/** Misuse of a collection of models, or a credential that cannot be used. */
export class ModelsError extends Error {
  readonly code: ModelsErrorCode;

  constructor(code: ModelsErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "ModelsError";
    this.code = code;
  }
}
