// The WebAssembly module: its memory, and the buffers through which one URL passes.

import { Buffers, type InitOutput } from './wasm.js'

export let buffers: Buffers
let memory: WebAssembly.Memory
/** All of the memory. It is detached when the memory grows. */
let bytes = new Uint8Array()
/** Where a URL is written, and how many bytes have room there. */
let place = 0
let room = 0

const encoder = new TextEncoder()
// A byte-order mark at the start of a URL belongs to it.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Keeps what the module exports. Nothing else may be called before. */
export function start(module: InitOutput): void {
  memory = module.memory
  buffers = new Buffers()
}

function reserve(length: number): void {
  if (room < length) {
    place = buffers.reserve(length)
    room = length
  }
  if (bytes.length === 0) bytes = new Uint8Array(memory.buffer)
}

/**
 * Writes a URL as UTF-8 where the module reads it, and returns its length in bytes. A surrogate without its pair
 * becomes U+FFFD, as in every interface of the web that takes a `USVString`.
 */
export function write(url: string): number {
  reserve(url.length)
  // Most URLs are ASCII, and a call of an encoder costs more than all of such a loop.
  for (let i = 0; i < url.length; i++) {
    const unit = url.charCodeAt(i)
    if (unit > 0x7f) return encode(url)
    bytes[place + i] = unit
  }
  return url.length
}

function encode(url: string): number {
  reserve(3 * url.length)
  return encoder.encodeInto(url, bytes.subarray(place, place + room)).written
}

/** A part of the memory, to be read before the module is called again. */
export function view(at: number, length: number): Uint8Array {
  if (bytes.length === 0) bytes = new Uint8Array(memory.buffer)
  return bytes.subarray(at, at + length)
}

/** The first bytes of the output as text. */
export const read = (length: number): string => text(view(buffers.output(), length))

export const utf8 = (text: string | Uint8Array): Uint8Array => (typeof text === 'string' ? encoder.encode(text) : text)
export const text = (utf8: Uint8Array): string => decoder.decode(utf8)
