import FieldpackCore
import FieldpackLocation

/// A digest of 64 bits over fixes in their order, by which a run knows again what it took.
///
/// Each word of 64 bits (degrees and milliseconds as they are stored, the bytes of the device's name) is
/// mixed in by a multiplication and a shift, as in the finaliser of MurmurHash3. It tells what was changed
/// by chance, and holds off nobody who looks for a collision.
struct FixesDigest: Hashable, Sendable {
  private(set) var bits: UInt64

  init(bits: UInt64 = 0) { self.bits = bits }

  mutating func add(_ fix: Fix) {
    mix(fix.longitude.bitPattern)
    mix(fix.latitude.bitPattern)
    // No instant is as early.
    mix(UInt64(bitPattern: fix.time?.milliseconds ?? .min))
    var name: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in fix.device.utf8 { name = (name ^ UInt64(byte)) &* 0x100_0000_01B3 }
    mix(name)
  }

  private mutating func mix(_ word: UInt64) {
    bits = (bits ^ word) &* 0xFF51_AFD7_ED55_8CCD
    bits ^= bits >> 33
  }
}
