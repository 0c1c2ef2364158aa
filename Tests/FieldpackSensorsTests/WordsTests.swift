import FieldpackSensors
import Testing

/// The words of sensors are those of wsabi2 and of the specification.
@Suite struct WordsTests {
  @Test func theChooserListsHaveTheirLengths() {
    #expect(Modality.allCases.map(\.captureTypes.count) == [23, 2, 3, 3, 5, 3, 3, 7])
    #expect(
      Modality.finger.captureTypes.prefix(5).map(\.title) == [
        "Left Slap", "Right Slap", "Thumbs Slap", "Left Thumb", "Left Index",
      ])
    #expect(Modality.finger.captureTypes.last?.title == "Right Little (Rolled)")
    #expect(!Modality.other.captureTypes.contains(.keystroke))
  }

  @Test func captureTypesHaveTheirNumbersAndNames() {
    let table: [(Int, String, String)] = [
      (0, "Capture Type Not Set", ""), (1, "Right Thumb (Rolled)", "RightThumbRolled"),
      (6, "Right Thumb", "RightThumbFlat"), (21, "Left Slap", "LeftSlap"),
      (27, "Face", "Face2d"), (28, "Face (3D)", "Face3d"), (35, "Back Of Hand", "BackOfHand"),
      (44, "DNA", "Dna"), (50, "Signature", "Signature"),
    ]
    for (number, title, name) in table {
      let type = CaptureType(rawValue: number)
      #expect(type?.title == title)
      #expect(type?.parameterName == name)
      #expect(CaptureType(parameterName: name.uppercased()) == type)
    }
    #expect(CaptureType.allCases.count == 51)
    #expect(CaptureType(parameterName: "frontalFace") == nil)
    #expect(CaptureType.leftRetina.modality == .retina)
    #expect(CaptureType.notSet.modality == nil)
  }

  @Test func partsAreThoseThatCanBeAnnotated() {
    #expect(CaptureType.rightSlap.annotatedParts == ["Index", "Middle", "Ring", "Little"])
    #expect(CaptureType.bothIrises.annotatedParts == ["Left", "Right"])
    #expect(CaptureType.face2d.annotatedParts == [""])
  }

  @Test func statusesAreReadInAnyCaseAndSpelling() {
    #expect(SensorStatus.allCases.count == 16)
    #expect(SensorStatus("noSuchParamter") == .noSuchParameter)
    #expect(SensorStatus("LOCKNOTHELD") == .lockNotHeld)
    #expect(SensorStatus("fine") == nil)
    #expect(SensorStatus.canceledWithSensorFailure.text == "canceled with sensor failure")
  }

  @Test func operationsAndSequencesHaveTheirNumbers() {
    #expect(SensorOperation.all.rawValue == 19)
    #expect(SensorOperation.getContentType.rawValue == 10)
    #expect(SensorOperation.recoverySequence.rawValue == 18)
    #expect(SensorOperation(name: "thriftyDownload") == .thriftyDownload)
    #expect(SensorSequence.disconnect.rawValue == 8)
  }
}
