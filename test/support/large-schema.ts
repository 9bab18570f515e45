/** An Arrow stream of a few hundred bytes whose schema has 2^17 fields, because fields share their children. */
import { Field } from "apache-arrow/fb/field";
import { Message } from "apache-arrow/fb/message";
import { MessageHeader } from "apache-arrow/fb/message-header";
import { MetadataVersion } from "apache-arrow/fb/metadata-version";
import { Schema } from "apache-arrow/fb/schema";
import { Struct_ } from "apache-arrow/fb/struct-";
import { Type } from "apache-arrow/fb/type";
import { Builder, type Offset } from "flatbuffers";

const builder = new Builder();
const name = builder.createString("id");

function struct(inside: readonly Offset[]): Offset {
  Struct_.startStruct_(builder);
  const type = Struct_.endStruct_(builder);
  const children = Field.createChildrenVector(builder, [...inside]);
  Field.startField(builder);
  Field.addName(builder, name);
  Field.addTypeType(builder, Type.Struct_);
  Field.addType(builder, type);
  Field.addChildren(builder, children);
  return Field.endField(builder);
}

let field = struct([]);
for (let depth = 0; depth < 16; depth++) field = struct([field, field]);
const schema = Schema.createSchema(builder, 0, Schema.createFieldsVector(builder, [field]), 0, 0);
builder.finish(Message.createMessage(builder, MetadataVersion.V5, MessageHeader.Schema, schema, 0n, 0));
const message = builder.asUint8Array();
const prefix = Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
prefix.writeInt32LE(Math.ceil(message.length / 8) * 8, 4);

export const largeSchema = Buffer.concat([prefix, message, Buffer.alloc(-message.length & 7)]);
