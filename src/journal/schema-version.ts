/** Version of the messages in a journal. Additions keep it; a change that older readers would misread raises it. */
export const SCHEMA_VERSION = 1
