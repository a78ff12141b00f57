/**
 * A URL without its user name and password, safe to show and log. Also works for URLs whose `{NAME}` placeholders are
 * not filled in yet.
 */
export const withoutUserinfo = (url: string): string => url.replace(/^([a-z][a-z0-9+.-]*:[/\\]*)[^/\\?#]*@/i, "$1");
