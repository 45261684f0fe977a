export interface TeamRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** The name and the password that the browser sends. */
export function userOf({ headers }: TeamRequest): { name: string; password: string } {
  const [, encoded = ''] = /^Basic (\S+)$/.exec(headers['authorization'] ?? '') ?? [];
  const [name = '', ...password] = Buffer.from(encoded, 'base64').toString().split(':');
  return { name: name || 'unknown', password: password.join(':') };
}
