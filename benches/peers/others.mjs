// What Node makes of a list of URLs: others.mjs IN OUT. Each line by the URL Standard, and a set.
import { createReadStream, createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';

const [source, target] = process.argv.slice(2);
const seen = new Set();
const out = createWriteStream(target);
for await (const line of createInterface({ input: createReadStream(source), crlfDelay: Infinity })) {
  if (!URL.canParse(line)) continue;
  const { href } = new URL(line);
  if (!seen.has(href)) {
    seen.add(href);
    out.write(`${href}\n`);
  }
}
out.end();
