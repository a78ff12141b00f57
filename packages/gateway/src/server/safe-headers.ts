/** What every answer has. There are no headers that let pages of other origins read it. */
export const safeHeaders = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
} as const;
