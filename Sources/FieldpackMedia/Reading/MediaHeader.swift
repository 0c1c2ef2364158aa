package import FieldpackCore

/// What a picture or a film says of itself.
package struct MediaHeader: Hashable, Sendable {
  package let type: MediaType
  /// Before it is turned.
  package var size = PictureSize(width: 0, height: 0)
  package var turn = PictureTurn.none
  /// Of a film that says so, in seconds.
  package var duration: Double?

  /// A picture is a JPEG; all else is a film.
  package var isPicture: Bool { type == .jpeg }

  /// As it is seen.
  package var uprightSize: PictureSize { turn.swapsSides ? size.swapped : size }

  /// By the beginning alone, which tells no more than the type.
  ///
  /// - Parameters:
  ///   - start: the first bytes of the file, ``MediaType/length`` where it has so many.
  ///   - name: what to call it in errors.
  ///   - holder: what is to hold it, for errors, such as `a capture`.
  /// - Throws: `.unsupported` for what is neither JPEG nor QuickTime nor MPEG-4, by its name;
  ///   `.invalidData` where there is nothing.
  package init(start: [UInt8], name: String, for holder: String) throws(FieldpackError) {
    guard !start.isEmpty else {
      throw FieldpackError(.invalidData, "\(name) is empty", position: FilePosition(file: name))
    }
    let type = MediaType(start)
    guard let type, [.jpeg, .quickTime, .mpeg4].contains(type) else {
      throw FieldpackError(
        .unsupported,
        "\(name) is \(type?.name ?? "neither a picture nor a video that is known"); \(holder) holds "
          + "JPEG, QuickTime or MPEG-4. Try: convert it first", position: FilePosition(file: name))
    }
    self.type = type
  }
}
