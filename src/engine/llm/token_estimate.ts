import type { ModelMessage } from "ai";

/** Characters of a token, for the texts that have the fewest: code and numbers. */
const asciiPerToken = 3.5;
/** An image, at the sizes that providers scale it to. */
const imageTokens = 1600;
/** A PDF: a page has some thousand of them. */
const documentBytesPerToken = 25;

/** Returns about how many tokens a text has; rather too many than too few. Pure. */
export function textTokens(text: string): number {
  // Other scripts have about a token a character.
  const others = text.length - (text.match(/[\x00-\x7f]+/g)?.reduce((sum, run) => sum + run.length, 0) ?? 0);
  return Math.ceil((text.length - others) / asciiPerToken + others);
}

/** Returns about how many tokens messages have. Pure. */
export function messageTokens(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + 4 + contentTokens(message.content), 0);
}

function contentTokens(content: ModelMessage["content"]): number {
  if (typeof content === "string") return textTokens(content);
  return content.reduce((sum, part) => {
    if (part.type !== "file") return sum + textTokens(JSON.stringify(part));
    const bytes = part.data instanceof Uint8Array ? part.data.length : 0;
    return sum + (part.mediaType.startsWith("image/") ? imageTokens : Math.ceil(bytes / documentBytesPerToken) + 1000);
  }, 0);
}
