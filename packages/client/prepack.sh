#!/bin/sh
# Builds what npm packs, also in a fresh clone: modules with types, the same for CommonJS, the program follow for Bun in one
# file, the guide, and the licenses.
set -e
cd "$(dirname "$0")"
command -v bun >/dev/null || bun() { npx --yes bun@1.4.5 "$@"; }
[ -x ../../node_modules/.bin/tsc ] || bun install --cwd ../.. --frozen-lockfile --silent
rm -rf dist
../../node_modules/.bin/tsc -p tsconfig.json
bun build src/leadfile.ts src/file.ts --format=cjs --target=node --outdir=dist --entry-naming='[name].cjs' >/dev/null
# CommonJS resolves types by their own file name, so each declaration file is there a second time.
for file in dist/*.d.ts; do
  sed -E 's#(from "\./[a-z-]+)\.[jt]s"#\1.cjs"#' "$file" >"${file%.ts}.cts"
done
bun build program/follow.ts --target=bun --outfile=dist/leadfile-follow.js >/dev/null
cp ../../docs/client.md README.md
(cat ../../LICENSE && printf '\ndist/leadfile-follow.js contains commander:\n\n' && cat ../../node_modules/commander/LICENSE) >LICENSE
