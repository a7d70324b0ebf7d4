/** One message of an engine's publisher: [topic, 8-byte big-endian sequence, payload]. */
export interface EventMessage {
  readonly topic: string
  readonly sequence: bigint
  readonly payload: Uint8Array
}

const SEQUENCE_BYTES = 8

/** Reads the frames of a message; undefined where they are not three or the sequence has not just its eight bytes. */
export const messageOf = (frames: readonly Buffer[]): EventMessage | undefined => {
  const [topic, sequence, payload] = frames
  if (frames.length !== 3 || topic === undefined || payload === undefined || sequence?.length !== SEQUENCE_BYTES) return undefined
  return { topic: topic.toString(), sequence: sequence.readBigUInt64BE(0), payload }
}

/** A sequence as a frame. */
export const sequenceFrame = (sequence: bigint): Buffer => {
  const frame = Buffer.alloc(SEQUENCE_BYTES)
  frame.writeBigUInt64BE(sequence)
  return frame
}
