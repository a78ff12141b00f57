/**
 * An address as it may be shown and logged: without the user and the password that it may hold. What is no URL yet,
 * because the environment fills it, is treated the same.
 */
export const withoutUserinfo = (url: string): string => url.replace(/^([a-z][a-z0-9+.-]*:[/\\]*)[^/\\?#]*@/i, "$1");
