import FieldpackMedia

extension MediaHeader {
  /// What holds media here, for errors.
  static let holder = "a capture"

  var kind: CaptureInfo.MediaKind { isPicture ? .image : .video }

  var orientation: CaptureInfo.Orientation {
    uprightSize.width > uprightSize.height ? .horizontal : .vertical
  }
}
