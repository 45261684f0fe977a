const MAX_MESSAGE_LENGTH = 500;

/** An error message for a log line: the messages of drivers can contain whole statements. */
export function logText(message: string): string {
  return message.length > MAX_MESSAGE_LENGTH ? `${message.slice(0, MAX_MESSAGE_LENGTH)}…` : message;
}

/** A stack for a log line. It begins with the message. */
export function logStack(stack: string | undefined, message: string): string | undefined {
  return message.length > MAX_MESSAGE_LENGTH ? stack?.replace(message, () => logText(message)) : stack;
}
