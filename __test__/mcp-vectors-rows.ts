// What servers play for the recorded rows, which keep outcomes only: by the name of the row, as JSON text.

const text = (...texts: string[]) => texts.map(words => ({ type: 'text', text: words }))
const image = { type: 'image', data: 'QUJD', mimeType: 'image/png' }
const result = (value: object) => JSON.stringify(value)
const nestedLists = (depth: number) => `{"content":[],"structuredContent":${'['.repeat(depth)}1${']'.repeat(depth)}}`

/** Results of `mcp_call_results`. */
export const RESULTS: Record<string, string> = {
  'text': result({ content: text('hi') }),
  'two texts': result({ content: text('a', 'b') }),
  'empty content': result({ content: [] }),
  'none content': result({ content: null }),
  'image only': result({ content: [image] }),
  'text+image': result({ content: [...text('t'), image] }),
  'structured': result({ content: text('{}'), structuredContent: { a: [1, 2.5, null, true, 'x'] } }),
  'isError': result({ content: text('bad'), isError: true }),
  'isError empty': result({ content: [], isError: true }),
  'private keys dropped': result({ content: [{ type: 'text', text: 't', meta: null, annotations: null, _meta: { secret: 1 } }], structuredContent: { ok: 2, _no: 1 } }),
  'ctrl chars': result({ content: text('a\0\u202eb\n') }),
  'trunc 10': result({ content: text('x'.repeat(11)) }),
  'exact 10': result({ content: text('x'.repeat(10)) }),
  'two texts limit 10 (5+1+4)': result({ content: text('xxxxx', 'yyyy') }),
  'two texts limit 10 (5+1+5)': result({ content: text('xxxxx', 'yyyyy') }),
  '10 then more': result({ content: text('x'.repeat(10), 'more') }),
  '9 then y': result({ content: text('x'.repeat(9), 'y') }),
  'structured big': result({ content: [], structuredContent: { big: 'y'.repeat(500) } }),
  'structured nan': '{"content":[],"structuredContent":{"n":1e400}}',
  'structured depth33': nestedLists(33),
  'structured depth32': nestedLists(32),
  'structured bytes': result({ content: [], structuredContent: { b: 'QUJD' } }),
  '513 blocks': result({ content: text(...Array<string>(513).fill('x')) }),
  '512 blocks': result({ content: Array<object>(512).fill(image) }),
  'no attrs': '{}',
}

const schema = (properties: object, more: object = {}) => JSON.stringify({ type: 'object', properties, ...more })
const wide = (count: number) => schema(Object.fromEntries(Array.from({ length: count }, (_, place) => [`p${place}`, {}])))
const nested = (levels: number): string => levels === 0 ? schema({}) : `{"type":"object","properties":{"p":${nested(levels - 1)}}}`
const parts = (count: number) => JSON.stringify({ enum: Array<number>(count).fill(0).map((_, place) => place) })

/** Input schemas of `mcp_schema_and_config_errors`. */
export const SCHEMAS: Record<string, string> = {
  'root string': '{"type":"string"}',
  'root list type': '{"type":["object"]}',
  'remote $ref': schema({ a: { $ref: 'https://example.com/a' } }),
  'rel file $ref': schema({ a: { $ref: 'a.json' } }),
  'local $ref': schema({ a: { $ref: '#/$defs/a' } }, { $defs: { a: { type: 'string' } } }),
  'dangling local $ref': schema({ a: { $ref: '#/$defs/none' } }),
  'dynamicRef remote': schema({ a: { $dynamicRef: 'https://example.com/a' } }),
  'recursiveRef remote': schema({ a: { $recursiveRef: 'https://example.com/a' } }),
  '$ref non-string': schema({ a: { $ref: 5 } }),
  '$id remote': schema({}, { $id: 'https://example.com/own' }),
  'big desc': schema({ a: { description: 'x'.repeat(140_000) } }),
  '513 props': wide(513),
  '512 props': wide(512),
  'bad type kw': schema({ a: { type: 'strin' } }),
  'required str': schema({ a: {} }, { required: 'a' }),
  'required ints': schema({ a: {} }, { required: [1] }),
  'props list': '{"type":"object","properties":[]}',
  'list': '[]',
  'str': '""',
  'None': 'null',
  'empty': '{}',
  'bool schema prop': schema({ a: true }),
  'nan': '{"type":"object","properties":{"a":{"maximum":1e400}}}',
  'inf': '{"type":"object","properties":{"a":{"default":1e999}}}',
  '$schema draft7': schema({}, { $schema: 'http://json-schema.org/draft-07/schema#' }),
  '$schema unknown': schema({}, { $schema: 'https://example.com/own' }),
  'default string desc kept': schema({ a: { type: 'object', default: { description: 'x\u202ey' } } }),
  'bad pattern': schema({ a: { pattern: '(' } }),
  'dup required': schema({ a: {} }, { required: ['a', 'a'] }),
  'enum empty': schema({ a: { enum: [] } }),
  'minimum str': schema({ a: { minimum: '1' } }),
  'nest 13': nested(13),
  'nest 14': nested(14),
  'nest 15': nested(15),
  'nest 16': nested(16),
  'nest 17': nested(17),
  'nest 18': nested(18),
  'nodes 4096ish': parts(4090),
  'nodes 4094': parts(4094),
  'nodes 4095': parts(4095),
}
