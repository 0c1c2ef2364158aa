import FieldpackCore

extension ByteInput {
  /// The bytes of a buffer to read the file through: `most`, or fewer for a smaller file, whose end
  /// shows in a read that does not fill it.
  func room(upTo most: Int) -> Int { min(most, size + 1) }
}
